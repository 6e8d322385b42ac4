<?php
namespace App\Http;

#[Attr]
abstract class K extends B
{
    const TABLE = [
        1,
    ];

    #[Pure]
    public function m(int $a): ?string
    {
        $f = function () {
        };
    }

    abstract function ab();
}

interface I { public function im(); }
trait T { function tm() {} }
enum E: string { case A = 'a'; }
function f() {}
$handler = function ($x) {
};
