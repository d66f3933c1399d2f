/** Who reads along while a response arrives. */
export interface Live {
  text(delta: string): void;
  reasoning(delta: string): void;
  /** The usage so far, or a part of it, in the provider's own form. */
  usage(raw: Readonly<Record<string, unknown>>): void;
}
