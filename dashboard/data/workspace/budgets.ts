import { infiniteQueryOptions } from '@tanstack/react-query';
import type { Budget, BudgetInput, BudgetWindow } from '../../../src/client/index.ts';
import { resource } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { formatCost } from '../text/format.ts';

export const budgets = resource('budgets', 'Budget', cueline.budgets);

/** The windows of a budget, the latest and fullest first. */
export const budgetWindowsQuery = (budgetId: string, limit: number) =>
  infiniteQueryOptions({
    queryKey: [...budgets.key, 'windows', budgetId, limit],
    queryFn: ({ pageParam: cursor, signal }) =>
      cueline.budgets.windows(budgetId, { limit, ...(cursor && { cursor }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: 60_000,
  });

export const isCurrent = ({ resetAt }: BudgetWindow) =>
  resetAt === null || Date.parse(resetAt) > Date.now();

const periods = {
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in total',
};
const pers = {
  none: '',
  agent: ' for each agent',
  key: ' for each API key',
  user: ' for each user',
};

export const periodChoices = choicesOf(periods);
export const perChoices = choicesOf({ ...pers, none: 'for all calls together' });

function choicesOf(texts: Readonly<Record<string, string>>) {
  return Object.entries(texts).map(([value, text]) => ({ value, label: text.trim() }));
}

/** Such as `$20.00 a month for each user`. */
export function describeBudget({
  limitUSD,
  period,
  per,
}: Pick<Budget | BudgetInput, 'limitUSD' | 'period' | 'per'>): string {
  return `${formatCost(limitUSD)} ${periods[period]}${pers[per]}`;
}
