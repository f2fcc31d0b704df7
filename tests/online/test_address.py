from __future__ import annotations

import pytest

from featurekit.errors import SettingsError
from featurekit.online.redis.address import Address, Login, Place, Tls, read_address

READ = {
    "redis://": Address(name="redis://", deployment="standalone", places=(Place("localhost", 6379),)),
    "redis://cache/2": Address(name="redis://cache/2", deployment="standalone", places=(Place("cache", 6379),), db=2),
    "redis://a:p%3A%40w@[::1]:7?db=3": Address(
        name="redis://[::1]:7", deployment="standalone", places=(Place("::1", 7),), login=Login("a", "p:@w"), db=3
    ),
    "unix://a:pw@/run/a%20b@c.sock?db=1": Address(
        name="unix://c.sock",
        deployment="standalone",
        places=(Place(path="/run/a b@c.sock"),),
        login=Login("a", "pw"),
        db=1,
    ),
    "rediss://cache?ca=/a+b/c%26d.pem&cert=x&key=y": Address(
        name="rediss://cache",
        deployment="standalone",
        places=(Place("cache", 6379),),
        tls=Tls("/a+b/c&d.pem", "x", "y"),
    ),
    "redis+sentinel://:pw@a,b:1/main/4?sentinel_user=s&sentinel_password=t": Address(
        name="redis+sentinel://a,b:1/main/4",
        deployment="sentinel",
        places=(Place("a", 26379), Place("b", 1)),
        login=Login(None, "pw"),
        sentinel_login=Login("s", "t"),
        db=4,
        master="main",
    ),
    "rediss+cluster://a:1,b": Address(
        name="rediss+cluster://a:1,b", deployment="cluster", places=(Place("a", 1), Place("b", 6379)), tls=Tls()
    ),
}


@pytest.mark.parametrize("url", READ)
def test_a_url_says_where_the_store_is_and_how_it_is_asked(url: str) -> None:
    assert read_address(url) == READ[url]


@pytest.mark.parametrize(
    "url",
    [
        "redis://a,b",  # several servers and no word of how they belong together
        "redis+sentinel://a,b",  # no master
        "redis+sentinel://a/",
        "redis+cluster://a/1",  # a cluster has one database
        "redis+cluster://a,,b:x",
        "redis://a:0",
        "redis://a:65536",
        "redis://a/one",
        "redis://a?ca=x",  # TLS options, and no TLS
        "redis://a?db=1&db=2",
        "redis://a?db",
        "redis+cluster://a?sentinel_user=s",
        "unix://relative/path",
        "unix://",
        "memcached://a",
        "",
    ],
)
def test_what_says_no_such_thing_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="no URL of an online store") as caught:
        read_address(url)
    assert "redis+cluster://" in str(caught.value.try_)
