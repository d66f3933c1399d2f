import type { Compute } from '../src/core/compute.ts';

/** Runs the jobs of the compute thread in this thread, for tests of what uses them. */
export const inlineCompute: Compute = {
  async run(_workspaceId, { module, name }, input) {
    const exported = await import(module);
    return structuredClone(exported[name](structuredClone(input)));
  },
};
