import type { EventEndpoint } from '../../../../src/client/index.ts';

export type EventType = EventEndpoint['eventTypes'][number];

/** Who subscribes to these is notified of alerts. */
export const alertEventTypes: EventType[] = ['alert.fired', 'alert.cleared'];

/** When each is sent, in one sentence. */
export const eventSentences: Readonly<Record<EventType, string>> = {
  'execution.succeeded': 'An execution has its output.',
  'execution.failed': 'An execution failed in all attempts.',
  'execution.canceled': 'An execution was canceled.',
  'execution.refused': 'A call was refused and left a record, for example by a limit.',
  'workflow_run.succeeded': 'A workflow run reached its end.',
  'workflow_run.failed': 'A workflow run failed or timed out.',
  'workflow_run.canceled': 'A workflow run was canceled.',
  'batch.completed': 'All lines of a batch have ended.',
  'agent.pinned': 'Another version was pinned.',
  'agent.moved': 'An agent changed its stage.',
  'agent.deleted': 'An agent was deleted.',
  'alert.fired': 'An alert crossed its threshold.',
  'alert.cleared': 'An alert is back below its threshold.',
  'budget.threshold': 'A share of a budget is spent or reserved.',
  'budget.exhausted': 'A budget refused a call.',
  'budget.overrun': 'A provider charged more than was reserved.',
  'quota.threshold': 'A share of the monthly AI Actions is used.',
  'quota.exhausted': 'The monthly AI Actions are used up.',
  'provider.failing': 'Most calls of a provider fail.',
  'provider.recovered': 'A failing provider answers again.',
  'key.revoked': 'An API key was revoked.',
  'key.expiring': 'An API key expires within seven days.',
  'endpoint.disabled': 'An endpoint was disabled after repeated failures.',
  ping: 'A test.',
};
export const budgetEventTypes: EventType[] = [
  'budget.threshold',
  'budget.exhausted',
  'budget.overrun',
];

/** The types that an endpoint can subscribe to. A ping needs no subscription. */
export const eventGroups: readonly {
  readonly label: string;
  readonly types: readonly EventType[];
}[] = [
  {
    label: 'Executions',
    types: ['execution.succeeded', 'execution.failed', 'execution.canceled', 'execution.refused'],
  },
  {
    label: 'Workflow runs and batches',
    types: [
      'workflow_run.succeeded',
      'workflow_run.failed',
      'workflow_run.canceled',
      'batch.completed',
    ],
  },
  { label: 'Agents', types: ['agent.pinned', 'agent.moved', 'agent.deleted'] },
  { label: 'Alerts', types: alertEventTypes },
  { label: 'Budgets', types: budgetEventTypes },
  {
    label: 'Quota, providers and keys',
    types: [
      'quota.threshold',
      'quota.exhausted',
      'provider.failing',
      'provider.recovered',
      'key.revoked',
      'key.expiring',
      'endpoint.disabled',
    ],
  },
];
