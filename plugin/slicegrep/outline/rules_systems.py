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
(function_definition type: (type_identifier) @name @callee declarator: (parenthesized_declarator) @more) @test
(translation_unit (expression_statement (call_expression function: (identifier) @name @callee arguments: (_) @more)) @test
  . (compound_statement) @tail)
(function_definition declarator: (_) @declarator) @function
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(type_definition type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] declarator: (_) @declarator) @struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (_) @declarator) @enum
(type_definition type: [(struct_specifier) (union_specifier) (enum_specifier)] @inner) @wrap
(type_definition declarator: (_) @declarator) @typedef
(declaration . type: [(struct_specifier) (union_specifier) (enum_specifier)] @inner) @wrap
(declaration declarator: (init_declarator declarator: (function_declarator) @declarator value: (initializer_list) @body)) @function
(translation_unit (declaration declarator: (init_declarator declarator: (_) @declarator value: (initializer_list) @body)) @variable)
(declaration declarator: (function_declarator) @declarator) @declaration
(declaration declarator: (pointer_declarator declarator: (function_declarator) @declarator)) @declaration
"""

_CPP = (
    """
(declaration_list (expression_statement (call_expression function: (identifier) @name @callee arguments: (_) @more)) @test
  . (compound_statement) @tail)
(function_definition declarator: (_) @declarator (delete_method_clause)) @declaration
(translation_unit (function_definition !type declarator: (function_declarator declarator: (identifier) @name @callee
  parameters: (_) @more)) @test)
(declaration_list (function_definition !type declarator: (function_declarator declarator: (identifier) @name @callee
  parameters: (_) @more)) @test)
"""
    + _C
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

_TESTS = {"test": "[A-Z][A-Z0-9_]{2,}"}
"""TEST(Suite, Name) {: a macro that is called where a function stands."""

_MACRO = rb"\b_*[A-Z][A-Z0-9_]*_[A-Z0-9_]*\b"
_CALL = rb"(?:[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))"
_SPECIFIERS = (
    rb"(?:(?:static|inline|virtual|explicit|constexpr|friend|extern|typedef|template[ \t]*<[^<>\n]*>)[ \t]+)*"
)
_IN_THE_WAY = (
    # class EXPORT Name : Base {
    (
        rb"\b(?:class|struct|union|enum(?:[ \t]+class)?)[ \t]+(_*[A-Z][A-Z0-9_]{2,}" + _CALL + rb"?)"
        rb"(?=[ \t]+[A-Za-z_][\w:<>, ]*(?:[ \t]+final)?[ \t]*(?::[^:;{\n][^;{\n]*)?(?:\{|$))",
        b" ",
    ),
    # namespace std VISIBILITY(default) {
    (rb"\bnamespace[ \t]+[\w:]+[ \t]+(_*[A-Z][A-Z0-9_]{2,}" + _CALL + rb"?)(?=\s*\{)", b" "),
    # void f(int a) const REQUIRES(mutex) {
    (
        rb"\)(?:\s*(?:const|override|final|noexcept|volatile|&&?))*((?:\s*\b_*[A-Z][A-Z0-9_]{3,}\b"
        + _CALL
        + rb"?)+)"
        rb"(?=(?:\s*(?:override|final|noexcept|=[ \t]*(?:default|delete|0)))*\s*[:{;])",
        b" ",
    ),
    # EXPORT(static int f(int a)) {
    (
        rb"^([A-Z][A-Z0-9_]{2,}[ \t]*\()(?:[^;{}()]{0,200}\w[\s*&]+\w+[ \t]*\([^;{}]{0,1000}\))[ \t]*(\))(?=\s*\{)",
        b" ",
    ),
)
_MACRO_REPAIRS = (
    # void f(list init = {})
    (rb"(=\s*\{\s*\})(?=\s*[,)])", b" "),
    # BEGIN_NAMESPACE, Q_OBJECT, UCLASS(Blueprintable) on lines of their own
    (
        rb"^[ \t]*(?:(" + _MACRO + _CALL + rb"?|[A-Z][A-Z0-9]{2,}" + _CALL + rb"))[ \t]*;?[ \t]*$(?!\s*\{)",
        b" ",
    ),
    # EXPORT_MACRO int f(); static NODISCARD_MACRO(1) bool g() {
    (rb"^[ \t]*" + _SPECIFIERS + rb"(" + _MACRO + _CALL + rb"?)(?=[ \t]+[A-Za-z_~:])", b" "),
    # PRIVATE_UNLESS_TESTED: and Qt's sections
    (rb"^[ \t]*(" + _MACRO + rb"[ \t]*:)[ \t]*$", b" "),
    (rb"^[ \t]*(?:(?:public|private|protected)[ \t]+(slots|Q_SLOTS)|(signals[ \t]*:))", b" "),
)
_C_ATTRIBUTES = r"\[\[[^\]]*\]\]\s*"

RULES = {
    "go": Rules(_GO, absolute_scope=True),
    "rust": Rules(_RUST, separator="::", annotations=r"#\[[^\]]*\]\s*"),
    "c": Rules(
        _C,
        preprocessor=True,
        annotations=_C_ATTRIBUTES,
        callees=_TESTS,
        renamed={"test": "function"},
        overwritten=_IN_THE_WAY,
        repairs=_MACRO_REPAIRS,
    ),
    "cpp": Rules(
        _CPP,
        separator="::",
        split="::",
        preprocessor=True,
        annotations=_C_ATTRIBUTES,
        callees=_TESTS,
        renamed={"test": "function"},
        overwritten=_IN_THE_WAY,
        repairs=_MACRO_REPAIRS,
    ),
    "zig": Rules(_ZIG, renamed={"test": "function"}, annotations="(?!)"),
}
