import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';
import { stringify } from '../text/exact-json.ts';
import { type Execution, isInProgress } from './executions.ts';
import { contentText, type SentMessage } from './sent-files.ts';

/** Executions that belong together: those of a session, and those for an end user. */

const pageSize = 30;
const runningPollMs = 2_000;

/** The turns of a session, the newest page first. Reads again while one is in progress. */
export const conversationQuery = (session: string) =>
  infiniteQueryOptions({
    queryKey: ['conversation', session],
    queryFn: ({ pageParam, signal }) => {
      const start = pageParam === null ? {} : { cursor: pageParam };
      const query = { session, include: 'processing', limit: pageSize, ...start } as const;
      return cueline.list(null, query, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? null,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ executions }) => executions.some(isInProgress))
        ? runningPollMs
        : false,
  });

/** Sessions of an end user, those with the newest records first. */
export const sessionsQuery = (user: string) =>
  infiniteQueryOptions({
    queryKey: ['sessions', user],
    queryFn: ({ pageParam, signal }) => {
      const start = pageParam === null ? {} : { cursor: pageParam };
      return cueline.listSessions({ user, limit: pageSize, ...start }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? null,
  });

/** What an end user has spent, and how many executions failed. */
export const userFiguresQuery = (user: string) =>
  queryOptions({
    queryKey: ['user figures', user],
    queryFn: async ({ signal }) => {
      const of = { user: [user], omit: 'bodies', limit: 1 } as const;
      const [all, failed] = await Promise.all([
        cueline.list(null, { ...of, totals: true }, { signal }),
        cueline.list(null, { ...of, status: 'failed' }, { signal }),
      ]);
      return { totals: all.totals, newest: all.executions[0], failures: failed.pagination.total };
    },
  });

/** What the user said: the last message of the user, the only value, or all values by name. */
export function saidText({ inputVariables = {} }: Execution): string {
  const values = Object.entries(inputVariables);
  for (const [, value] of values) {
    const said = isMessages(value) && value.findLast(({ role }) => role === 'user');
    if (said) return contentText(said.content);
  }
  const texts = values.map(([, value]) => (typeof value === 'string' ? value : stringify(value)));
  if (values.length === 1) return texts[0] ?? '';
  return values.map(([name], index) => `${name}: ${texts[index]}`).join('\n');
}

function isMessages(value: unknown): value is SentMessage[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (one) =>
        typeof one?.role === 'string' &&
        (typeof one.content === 'string' || Array.isArray(one.content)),
    )
  );
}
