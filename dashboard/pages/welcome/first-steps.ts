import type { Me } from '../../../src/client/index.ts';

/** Whether this user has finished or skipped the first steps of this workspace in this browser. */
export function firstStepsDone(me: Me): boolean {
  return localStorage.getItem(keyOf(me)) !== null;
}

export function finishFirstSteps(me: Me): void {
  localStorage.setItem(keyOf(me), 'done');
}

const keyOf = ({ user, workspaceId }: Me) => `cueline-first-steps-${workspaceId}-${user.userId}`;
