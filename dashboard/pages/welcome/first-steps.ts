import type { Me } from '../../../src/client/index.ts';

/** Whether the first steps were finished or put aside in this browser, by this user in this workspace. */
export function firstStepsDone(me: Me): boolean {
  return localStorage.getItem(keyOf(me)) !== null;
}

export function finishFirstSteps(me: Me): void {
  localStorage.setItem(keyOf(me), 'done');
}

const keyOf = ({ user, workspaceId }: Me) => `cueline-first-steps-${workspaceId}-${user.userId}`;
