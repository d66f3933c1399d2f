import { serverURL } from '../../../data/client/base-path.ts';
import type { Execution } from '../../../data/executions/executions.ts';

/** The rows of the list in the page. */

/** The address of an execution's page. */
export function linkOf({
  agentId,
  executionId,
}: Pick<Execution, 'agentId' | 'executionId'>): string {
  return `${serverURL}/history/${agentId}/${executionId}`;
}

export function focusedId(): string | undefined {
  const row = document.activeElement?.closest('tr');
  return row?.querySelector<HTMLElement>('[data-execution]')?.dataset.execution;
}

export function focusRow(executionId: string): void {
  const link = document.querySelector<HTMLElement>(`[data-execution="${CSS.escape(executionId)}"]`);
  link?.closest('tr')?.scrollIntoView({ block: 'nearest' });
  link?.focus({ preventScroll: true });
}
