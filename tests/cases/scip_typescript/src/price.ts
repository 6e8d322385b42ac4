export function priceOf(name: string): number {
  return name.length;
}

export function twice(value: number): number;
export function twice(value: string): string;
export function twice(value: any): any {
  return value + value;
}

export const first = <T>(values: T[]): T => values[0];

export function loose(thing: any): void {
  thing.add("anything");
}
