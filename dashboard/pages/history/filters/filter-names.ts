import { formatTime } from '../../../data/text/format.ts';
import { type HistorySearch, type ListName, lists, valuesOf } from '../search.ts';

/** The filters as people read them. */

export const listLabels: Readonly<Record<ListName, string>> = {
  status: 'Status',
  errorCode: 'Error code',
  agentId: 'Agent',
  model: 'Model',
  promptVersionId: 'Version',
  source: 'Source',
  playground: 'Playground',
  apiKeyId: 'Key',
  user: 'User',
  executionId: 'Executions',
};

/** A filter that is edited as one. */
export type FilterName =
  | ListName
  | 'session'
  | 'tag'
  | 'rerunOf'
  | 'batchId'
  | 'latency'
  | 'cost'
  | 'variables'
  | 'metadata';

export const offered: readonly (readonly [FilterName, string])[] = [
  ...lists
    .filter((name) => name !== 'executionId')
    .map((name) => [name, listLabels[name]] as const),
  ['session', 'Session'],
  ['tag', 'Tag'],
  ['latency', 'Latency'],
  ['cost', 'Cost'],
  ['variables', 'Variable'],
  ['metadata', 'Metadata'],
];

export interface Chip {
  readonly name: FilterName;
  readonly label: string;
  readonly value: string;
  /** What removing it changes. */
  readonly without: Partial<HistorySearch>;
}

/** One chip for each filter except words and time, which have their own fields. */
export function chipsOf(
  search: HistorySearch,
  nameOf: (name: ListName, value: string) => string,
): Chip[] {
  const ofLists = lists.flatMap((name): Chip[] => {
    const values = valuesOf(search[name]);
    if (values.length === 0) return [];
    const value =
      name === 'executionId'
        ? `${values.length} selected`
        : listText(values.map((one) => nameOf(name, one)));
    return [{ name, label: listLabels[name], value, without: { [name]: undefined } }];
  });
  const single = (['session', 'tag', 'rerunOf', 'batchId'] as const).flatMap((name): Chip[] => {
    const value = search[name];
    if (value === undefined) return [];
    const label = { session: 'Session', tag: 'Tag', rerunOf: 'Runs again', batchId: 'Batch' }[name];
    return [{ name, label, value, without: { [name]: undefined } }];
  });
  return [...ofLists, ...single, ...rangeChips(search), ...namedChips(search)];
}

function rangeChips(search: HistorySearch): Chip[] {
  const { latencyMsMin, latencyMsMax, costUSDMin, costUSDMax } = search;
  const latency = rangeText(latencyMsMin, latencyMsMax, (ms) => `${ms} ms`);
  const cost = rangeText(costUSDMin, costUSDMax, (usd) => `$${usd}`);
  const noLatency = { latencyMsMin: undefined, latencyMsMax: undefined };
  const noCost = { costUSDMin: undefined, costUSDMax: undefined };
  return [
    ...(latency
      ? [{ name: 'latency', label: 'Latency', value: latency, without: noLatency } as const]
      : []),
    ...(cost ? [{ name: 'cost', label: 'Cost', value: cost, without: noCost } as const] : []),
  ];
}

function namedChips(search: HistorySearch): Chip[] {
  return Object.entries(search).flatMap(([key, value]): Chip[] => {
    const [, name, of] = /^(variables|metadata)\.(.+)$/.exec(key) ?? [];
    if (name === undefined || of === undefined || value === undefined) return [];
    const label = `${name === 'variables' ? 'Variable' : 'Metadata'} ${of}`;
    return [
      { name: name as FilterName, label, value: String(value), without: { [key]: undefined } },
    ];
  });
}

function rangeText<T>(min: T | undefined, max: T | undefined, show: (value: T) => string) {
  if (min !== undefined && max !== undefined) return `${show(min)} to ${show(max)}`;
  if (min !== undefined) return `at least ${show(min)}`;
  return max === undefined ? null : `at most ${show(max)}`;
}

const shownMax = 3;

function listText(names: readonly string[]): string {
  const more = names.length - shownMax;
  if (more > 0) return `${names.slice(0, shownMax).join(', ')} and ${more} more`;
  return names.join(' or ');
}

/** The absolute time range, or null. */
export function timeText({ startDate, endDate }: HistorySearch): string | null {
  if (startDate && endDate) return `${formatTime(startDate)} to ${formatTime(endDate)}`;
  if (startDate) return `Since ${formatTime(startDate)}`;
  return endDate ? `Until ${formatTime(endDate)}` : null;
}
