"""The rules of Python, JavaScript and TypeScript."""

from __future__ import annotations

from slicegrep.outline.rules import Rules

__all__ = ["RULES"]

_PYTHON = """
(function_definition) @function
(class_definition) @class
(decorated_definition) @decorated
(module (expression_statement (assignment left: (identifier) @name)) @variable)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @variable))
(type_alias_statement left: (type . [(identifier) (generic_type)] @name .)) @type
"""

_FUNCTION = "[(arrow_function) (function_expression) (generator_function)]"

# React.memo(() => ...), debounce(function () ...): the name is given to the result, and people mean the function.
_WRAPPERS = (
    r"(?:.*\.)?(?:memo|forwardRef|observer|lazy|useCallback|debounce|throttle|once|memoize|defineComponent"
    r"|async[Hh]andler|catchAsync|wrap(?:[A-Z]\w*)?|with[A-Z]\w*|action|createAsyncThunk)"
)

_JAVASCRIPT = f"""
(function_declaration) @function
(generator_function_declaration) @function
(function_expression) @function
(generator_function) @function
(class_declaration) @class
(class) @class
(method_definition) @method
(variable_declarator name: (identifier) @name value: {_FUNCTION} @value) @function
(variable_declarator name: (identifier) @name value: (class) @value) @class
(variable_declarator name: (identifier) @name value: (call_expression function: (_) @callee
  arguments: (arguments {_FUNCTION} @value))) @function
(assignment_expression left: [(member_expression) (identifier) (subscript_expression)] @name right: {_FUNCTION} @value) @function
(assignment_expression left: [(member_expression) (identifier)] @name right: (class) @value) @class
(pair key: (_) @name value: {_FUNCTION} @value) @method
(pair key: (_) @name value: (object)) @qualifier
(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
(program (expression_statement (assignment_expression left: (member_expression) @name right: [(object) (array)]) @variable))
(variable_declarator name: (identifier) @name value: (object)) @qualifier
(assignment_expression left: (member_expression) @name right: (object)) @qualifier
(export_statement) @wrap
(export_statement "default" @name value: {_FUNCTION} @value) @function
(export_statement "default" @name value: (class) @value) @class
(lexical_declaration . (variable_declarator) @inner) @wrap
(variable_declaration . (variable_declarator) @inner) @wrap
"""

_JAVASCRIPT_ONLY = """
(field_definition property: (_) @name) @field
"""

_TYPESCRIPT_ONLY = """
(public_field_definition) @field
(abstract_class_declaration) @class
(interface_declaration) @interface
(enum_declaration) @enum
(type_alias_declaration) @type
(function_signature) @function
(method_signature) @method
(abstract_method_signature) @method
(internal_module) @namespace
(module) @namespace
(class_body (decorator) @attribute)
(ambient_declaration) @wrap
"""

_FIELDS = (
    ("field", "value", "arrow_function|function_expression|generator_function", "", "method"),
    ("field", "", "", "", ""),
)
_SAYS_NOTHING = frozenset({"prototype", "exports", "module", "this", "self", "window", "globalThis"})


def _script(query: str) -> Rules:
    return Rules(
        query=query, split=r"\.", dropped=_SAYS_NOTHING, callees={"function": _WRAPPERS}, refined=_FIELDS
    )


RULES = {
    "python": Rules(_PYTHON),
    "javascript": _script(_JAVASCRIPT + _JAVASCRIPT_ONLY),
    "typescript": _script(_JAVASCRIPT + _TYPESCRIPT_ONLY),
    "tsx": _script(_JAVASCRIPT + _TYPESCRIPT_ONLY),
}
