/**
 * What a process that a test starts inherits: where programs are, and where code is kept that was compiled before, which
 * halves the time that hundreds of starts take.
 */
export function inherited(path = process.env.PATH ?? ''): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE ? { PATH: path, NODE_COMPILE_CACHE } : { PATH: path };
}
