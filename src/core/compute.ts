import { CallFailure } from './failure.ts';

/**
 * Pure functions that may take longer than the event loop may wait: they compile and evaluate schemas, or read long JSON.
 * They run in a thread (`engine/compute/compute-thread.ts`). A job is a function that its module exports under its own name.
 * Its input and output are values that can be cloned; what is refused is a value too.
 */
export interface ComputeJob<Input, Output> {
  /** The address of the module that exports the function. */
  readonly module: string;
  readonly name: string;
  /** Never set: the types of a job without its function. */
  readonly types?: (input: Input) => Output;
}

export function computeJob<Input, Output>(
  module: string,
  { name }: (input: Input) => Output,
): ComputeJob<Input, Output> {
  return { module, name };
}

export interface Compute {
  /**
   * Jobs of one workspace run one after the other; workspaces take turns.
   * @param chars about as long as its texts are; those of the longest inputs run in a thread of their own
   * @throws {JobTooLarge} if it needs more memory than a job may have
   */
  run<Input, Output>(
    workspaceId: string,
    job: ComputeJob<Input, Output>,
    input: Input,
    chars?: number,
  ): Promise<Output>;
}

export class JobTooLarge extends CallFailure {
  constructor() {
    super('BODY_TOO_LARGE', 'Reading it takes more memory than this process has for one call.');
  }
}

/** Up to here, reading, comparing or hashing JSON is left to the event loop: it takes less than the way to a thread. */
export const inlineCharsMax = 16_384;
