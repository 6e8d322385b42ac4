export function over(a: string): string;
export function over(a: number): number;
export function over(a: any): any {
  return a;
}
@Injectable()
export abstract class S<T> {
  constructor(private readonly a: string) {}
  @Input()
  set v(x: string) {}
  handler = async (): Promise<void> => {
  };
  abstract z(): void;
}
interface I { m(): void }
enum E { A }
type T = {
  a: string;
};
namespace N.M {
  export const h = function () {};
}
declare module "m" { function d(): void; }
const $el = <T,>(a: T) => a;
