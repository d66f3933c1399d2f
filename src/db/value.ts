/** Buffers are sent as bytes, everything else as text. */
export type Value = string | number | boolean | Buffer | null | undefined | readonly Value[];
