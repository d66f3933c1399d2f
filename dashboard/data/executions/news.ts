import type { ExecutionPage } from '../../../src/client/index.ts';

type Execution = Pick<ExecutionPage['executions'][number], 'executedAt' | 'executionId'>;

/**
 * The executions of a page that precede the first one of the list. Many may share its time: the order of lists is by time,
 * then by id, so that these are no news.
 */
export function countNews(
  page:
    | {
        readonly executions: readonly Execution[];
        readonly pagination: Pick<ExecutionPage['pagination'], 'hasMore'>;
      }
    | undefined,
  first: Execution | undefined,
): { readonly count: number; readonly isMore: boolean } {
  const isNews = ({ executedAt, executionId }: Execution) =>
    first === undefined ||
    executedAt > first.executedAt ||
    (executedAt === first.executedAt && executionId > first.executionId);
  const executions = page?.executions ?? [];
  const count = executions.filter(isNews).length;
  // News come first: if older ones follow on the page, these were all.
  const isMore = count > 0 && count === executions.length && page?.pagination.hasMore === true;
  return { count, isMore };
}
