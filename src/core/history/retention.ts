/** How long the history keeps what; days, counted from when a call was accepted or refused. */
export interface Retention {
  /** Null keeps records for ever; of an agent, as long as its workspace says. */
  readonly recordsDays: number | null;
  /** Null keeps bodies as long as their record; of an agent, as long as its workspace says. */
  readonly bodiesDays: number | null;
}

/** After the end of a run whose agent stores no bodies, for whoever polls; in milliseconds. */
export const transientOutputMs = 900_000;
/** Hours that hold more records than this keep their minutes. */
export const rolledUpMax = 500;
