import { CallFailure } from './failure.ts';

/** Whether a change may apply to this revision. It is evaluated after the row is locked. */
export type Precondition = (revision: number) => boolean;

export function refuseStale(revision: number, isCurrent: Precondition): void {
  if (isCurrent(revision)) return;
  throw new CallFailure('STALE', 'It has changed since it was read. Read it again.');
}
