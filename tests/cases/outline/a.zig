const std = @import("std");

pub fn f(a: i32) !void {
    _ = a;
}

const S = struct {
    x: i32,

    pub fn m(self: S) void {
        _ = self;
    }
};

test "adds" {}
