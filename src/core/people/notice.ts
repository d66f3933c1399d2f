/** Notices of the dashboard that each member can dismiss in each workspace. */
export const notices = ['firstSteps', 'generatedPassword'] as const;
export type Notice = (typeof notices)[number];

/** Whether it may be dismissed for good. A risk can only be postponed. */
export function canDismiss(notice: Notice): boolean {
  return notice !== 'generatedPassword';
}
