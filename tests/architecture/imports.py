"""Every import of a package, read from its source without running it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Import:
    """One import of `target` by `module`, wherever in the file it is."""

    module: str
    target: str
    file: str
    line: int
    for_types: bool  # under TYPE_CHECKING: it never runs
    functions: tuple[str, ...]  # those around it, outermost first

    def is_of(self, package: str) -> bool:
        return self.target == package or self.target.startswith(f"{package}.")


def read_imports(root: Path, package: str) -> list[Import]:
    """Return the imports of each module of `package`, whose folder is in `root`."""
    files = {_module_name(path, root): path for path in sorted((root / package).rglob("*.py"))}
    found = []
    for module, path in files.items():
        reader = _Reader(module, path, root, frozenset(files))
        reader.visit(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)))
        found += reader.found
    return found


def _module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Reader(ast.NodeVisitor):
    def __init__(self, module: str, path: Path, root: Path, modules: frozenset[str]) -> None:
        self.found: list[Import] = []
        self._module = module
        self._package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        self._file = path.relative_to(root)
        self._modules = modules
        self._for_types = False
        self._functions: tuple[str, ...] = ()

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self._absolute(node)
        for alias in node.names:
            # `from package import module` is an import of the module, not only of the package.
            inner = f"{base}.{alias.name}"
            self._add(inner if inner in self._modules else base, node)

    def visit_Call(self, node: ast.Call) -> None:
        # An import by name is an import too, else the rules could be talked around.
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("import_module", "__import__") and node.args:
            match node.args[0]:
                case ast.Constant(value=str(target)):
                    self._add(target, node)
                case _:
                    pass
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not _is_type_checking(node.test):
            self.generic_visit(node)
            return
        before, self._for_types = self._for_types, True
        self._visit_all(node.body)
        self._for_types = before
        self._visit_all(node.orelse)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_function(node)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before, self._functions = self._functions, (*self._functions, node.name)
        self.generic_visit(node)
        self._functions = before

    def _visit_all(self, nodes: list[ast.stmt]) -> None:
        for node in nodes:
            self.visit(node)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if node.level == 0:
            return node.module or ""
        parts = self._package.split(".")
        above = parts[: len(parts) - (node.level - 1)]
        return ".".join([*above, *([node.module] if node.module else [])])

    def _add(self, target: str, node: ast.stmt | ast.expr) -> None:
        self.found.append(
            Import(
                module=self._module,
                target=target,
                file=str(self._file),
                line=node.lineno,
                for_types=self._for_types,
                functions=self._functions,
            )
        )


def _is_type_checking(test: ast.expr) -> bool:
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case _:
            return False
