/** How long the history keeps data, in days since a call was accepted or refused. */
export interface Retention {
  /** Null keeps records for ever; for an agent, as long as its workspace. */
  readonly recordsDays: number | null;
  /** Null keeps bodies as long as their record; for an agent, as long as its workspace. */
  readonly bodiesDays: number | null;
}

/** How long the output of an agent that stores no bodies remains readable after the end, in milliseconds. */
export const transientOutputMs = 900_000;
/** Hours with more records than this keep their minutes. */
export const rolledUpMax = 500;
