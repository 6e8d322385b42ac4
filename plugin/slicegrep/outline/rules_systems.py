"""The rules of Go, Rust, C, C++ and Zig."""

from __future__ import annotations

from slicegrep.outline.rules import Rules

__all__ = ["RULES"]

_GO = """
(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @scope)) name: (_) @name) @method
(type_spec name: (_) @name type: (struct_type)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(var_spec . name: (identifier) @name value: (expression_list . (func_literal) @value)) @function
(source_file (var_declaration (var_spec . name: (_) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec . name: (_) @name) @variable)))
(source_file (const_declaration . (const_spec . name: (_) @name)) @variable)
(interface_type (method_elem name: (_) @name) @method)
(type_declaration "type" . (type_spec) @inner) @wrap
(type_declaration "type" . (type_alias) @inner) @wrap
(var_declaration "var" . (var_spec) @inner) @wrap
"""

_RUST = """
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(union_item name: (_) @name) @union
(trait_item name: (_) @name) @trait
(impl_item type: (_) @name) @impl
(mod_item name: (_) @name body: (_)) @namespace
(macro_definition name: (_) @name) @macro
(type_item name: (_) @name) @type
(const_item name: (_) @name) @variable
(static_item name: (_) @name) @variable
(attribute_item) @attribute
"""

_C = """
(function_definition declarator: (_) @declarator) @function
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(type_definition type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] declarator: (_) @declarator) @struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (_) @declarator) @enum
(type_definition type: [(struct_specifier) (union_specifier) (enum_specifier)] @inner) @wrap
(type_definition declarator: (_) @declarator) @typedef
(declaration . type: [(struct_specifier) (union_specifier) (enum_specifier)] @inner) @wrap
(translation_unit (declaration declarator: (init_declarator declarator: (_) @declarator value: (initializer_list) @body)) @variable)
(declaration declarator: (function_declarator) @declarator) @declaration
(declaration declarator: (pointer_declarator declarator: (function_declarator) @declarator)) @declaration
"""

_CPP = (
    _C
    + """
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @namespace
(concept_definition name: (_) @name) @concept
(declaration_list (declaration declarator: (init_declarator declarator: (_) @declarator value: (initializer_list) @body)) @variable)
(declaration declarator: (init_declarator declarator: (_) @declarator value: (lambda_expression body: (_) @body))) @function
(field_declaration declarator: (function_declarator) @declarator) @declaration
(field_declaration declarator: (pointer_declarator declarator: (function_declarator) @declarator)) @declaration
(field_declaration declarator: (reference_declarator (function_declarator) @declarator)) @declaration
(declaration declarator: (reference_declarator (function_declarator) @declarator)) @declaration
(template_declaration [(function_definition) (class_specifier) (struct_specifier) (union_specifier) (declaration)
  (alias_declaration) (concept_definition) (template_declaration) (field_declaration) (friend_declaration)] @inner) @wrap
(alias_declaration name: (_) @name) @type
"""
)

_ZIG = """
(function_declaration name: (_) @name) @function
(variable_declaration . (identifier) @name (struct_declaration)) @struct
(variable_declaration . (identifier) @name (enum_declaration)) @enum
(variable_declaration . (identifier) @name (union_declaration)) @union
(variable_declaration . (identifier) @name [(opaque_declaration) (error_set_declaration)]) @type
(test_declaration [(string) (identifier)] @name) @test
(source_file (variable_declaration . (identifier) @name) @variable)
"""

RULES = {
    "go": Rules(_GO, absolute_scope=True),
    "rust": Rules(_RUST, separator="::", annotations=r"#\[[^\]]*\]\s*"),
    "c": Rules(_C, preprocessor=True, annotations=r"\[\[[^\]]*\]\]\s*"),
    "zig": Rules(_ZIG, renamed={"test": "function"}, annotations="(?!)"),
    "cpp": Rules(_CPP, separator="::", split="::", preprocessor=True, annotations=r"\[\[[^\]]*\]\]\s*"),
}
