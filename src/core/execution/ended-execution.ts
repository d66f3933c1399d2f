import type { Attempt } from './attempt.ts';
import type { OutcomeColumns } from './execution-fields.ts';

/** The end of an execution, as its record will show it. */
export interface EndedExecution extends OutcomeColumns {
  readonly id: string;
  readonly agentId: string;
  readonly completedMs: number;
  readonly startedMs: number | null;
  /** If false, the record keeps only the output or the refusal, for a short time. */
  readonly storeBodies: boolean;
  /** Of the conversation that ends with the answer, if its message is kept for the next turn. */
  readonly messageDigest: string | null;
  /** The turn that answered after turns with calls of tools. */
  readonly lastTurn: Attempt | null;
}
