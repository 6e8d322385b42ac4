"""The rules of Java, C#, Kotlin, Swift, Scala, Dart and Haskell."""

from __future__ import annotations

from slicegrep.outline.rules import Rules

__all__ = ["RULES"]

_JAVA = """
(class_declaration) @class
(interface_declaration) @interface
(enum_declaration) @enum
(record_declaration) @record
(annotation_type_declaration) @interface
(method_declaration) @method
(constructor_declaration) @constructor
(compact_constructor_declaration) @constructor
(annotation_type_element_declaration) @method
(enum_constant name: (_) @name body: (_)) @qualifier
(field_declaration declarator: (variable_declarator name: (_) @name value: (lambda_expression body: (_) @body))) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @variable
"""

_CSHARP = """
(class_declaration) @class
(struct_declaration) @struct
(interface_declaration) @interface
(enum_declaration) @enum
(record_declaration) @record
(delegate_declaration) @type
(namespace_declaration) @namespace
(method_declaration) @method
(constructor_declaration) @constructor
(destructor_declaration "~" @name name: (_) @more) @method
(local_function_statement) @function
(operator_declaration "operator" @name operator: _ @more) @method
(conversion_operator_declaration "operator" @name type: (_) @more) @method
(indexer_declaration "this" @name) @property
(property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (_)))) @property
(property_declaration name: (_) @name value: (arrow_expression_clause) @body) @property
(event_declaration) @property
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @variable
"""

_KOTLIN = """
(class_declaration "interface" name: (_) @name [(class_body) (enum_class_body)]? @body) @interface
(class_declaration name: (_) @name (enum_class_body) @body) @enum
(class_declaration name: (_) @name (class_body) @body) @class
(class_declaration) @class
(object_declaration) @object
(companion_object !name "object" @known) @object
(companion_object) @object
(function_declaration (user_type) @scope . name: (_) @name (function_body) @body) @method
(function_declaration (user_type) @scope . name: (_) @name) @method
(function_declaration name: (_) @name (function_body) @body) @function
(function_declaration) @function
(secondary_constructor "constructor" @name (block) @body) @constructor
(secondary_constructor "constructor" @name) @constructor
(anonymous_initializer "init" @name (block) @body) @method
(property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)] @body) @property
(property_declaration (variable_declaration . (identifier) @name) [(lambda_literal) (anonymous_function)] @body) @function
(property_declaration (variable_declaration . (identifier) @name)) @variable
(type_alias (identifier) @name) @type
(enum_entry (identifier) @name (class_body)) @qualifier
(annotated_expression) @attribute
"""

_SWIFT = """
(class_declaration) @class
(protocol_declaration) @protocol
(function_declaration) @function
(protocol_function_declaration) @method
(init_declaration) @constructor
(deinit_declaration "deinit" @name) @method
(subscript_declaration "subscript" @name) @method
(property_declaration) @variable
(typealias_declaration) @type
(macro_declaration . (simple_identifier) @name) @macro
"""

_SWIFT_PROPERTIES = (
    ("variable", "computed_value", "", "", "property"),
    ("variable", "value", "lambda_literal", "", "function"),
)

_SCALA = """
(class_definition) @class
(object_definition) @object
(package_object) @object
(trait_definition) @trait
(enum_definition) @enum
(given_definition) @object
(function_definition) @function
(function_declaration) @function
(val_definition pattern: (identifier) @name value: [(lambda_expression) (block . (lambda_expression) .)] @body) @function
(val_definition pattern: (identifier) @name) @variable
(type_definition) @type
"""

_DART_MEMBER = """[(function_signature name: (_) @name) (getter_signature name: (_) @name) (setter_signature name: (_) @name)
  (operator_signature "operator" @name . (_) @more) (constructor_signature name: (_) . name: (_) @name)
  (factory_constructor_signature (identifier) . (identifier) @name)
  (constant_constructor_signature (identifier) . (identifier) @name)
  (redirecting_factory_constructor_signature (identifier) . (identifier) @name)]"""
_DART_CONSTRUCTOR = """[(constructor_signature name: (_) @name) (factory_constructor_signature (identifier) @name)
  (constant_constructor_signature (identifier) @name)]"""

_DART = f"""
(class_definition) @class
(mixin_declaration (identifier) @name) @mixin
(extension_declaration) @extension
(extension_declaration !name class: (_) @name) @extension
(extension_type_declaration) @extension
(enum_declaration) @enum
(type_alias . (type_identifier) @name) @type
((method_signature {_DART_MEMBER}) @method . (function_body) @tail)
((method_signature {_DART_CONSTRUCTOR}) @constructor . (function_body) @tail)
(declaration {_DART_MEMBER}) @method
(declaration {_DART_CONSTRUCTOR}) @constructor
([(function_signature) (getter_signature) (setter_signature)] @function . (function_body) @tail)
(static_final_declaration . (identifier) @name) @variable
(annotation) @attribute
"""

_HASKELL = """
(signature) @signature
(function (infix operator: (_) @name)) @function
(function) @function
(declarations (bind name: (variable) @name) @function)
(class_declarations (bind name: (variable) @name) @function)
(instance_declarations (bind name: (variable) @name) @function)
(bind name: (variable) @name match: (match expression: (lambda))) @function
(data_type) @type
(newtype) @type
(type_synonym) @type
(type_family) @type
(class) @class
(instance name: (_) @name patterns: (_) @more) @instance
(instance) @instance
(pattern_synonym (equation synonym: (apply function: (_) @name))) @function
"""

RULES = {
    "java": Rules(_JAVA, hollow=True),
    "csharp": Rules(
        _CSHARP,
        preprocessor=True,
        hollow=True,
        annotations=r"\[[^\]]*\]\s*",
        ends=r"\{|=>|;\s*$",
        split=r"\.",
    ),
    "kotlin": Rules(
        _KOTLIN, hollow=True, unnamed="Companion", repairs=((rb"(?<=[^\s{])[ \t](?=\}[ \t]*$)", b";"),)
    ),
    "swift": Rules(
        _SWIFT, split=r"\.", kind_field="declaration_kind", refined=_SWIFT_PROPERTIES, hollow=True
    ),
    "scala": Rules(_SCALA),
    "dart": Rules(_DART, hollow=True),
    "haskell": Rules(_HASKELL, equations=True, ends=r"\n|\s=(?=\s)|\s\|(?=\s)|\swhere\b", annotations="(?!)"),
}
