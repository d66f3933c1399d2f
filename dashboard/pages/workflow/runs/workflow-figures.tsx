import { Button } from '@mantine/core';
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Workflow } from '../../../../src/client/index.ts';
import { FigureTile, FigureTiles } from '../../../components/analytics/figure-tile.tsx';
import { Icon } from '../../../components/icon.tsx';
import { cueline } from '../../../data/client/client.ts';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
} from '../../../data/text/format.ts';
import { isInProgress, workflowRunsQuery } from '../../../data/workflows/workflow-runs.ts';
import { can, useMe } from '../../../data/workspace/me.ts';

const [runsMax, costsMax] = [100, 10];

/** Success, duration and cost of the newest runs, and the way to the next one. */
export function WorkflowFigures({ workflow }: { readonly workflow: Workflow }) {
  const { workflowId } = workflow;
  const page = useQuery(workflowRunsQuery(workflowId, { limit: runsMax }));
  const ended = page.data?.runs.filter((run) => !isInProgress(run));
  const succeeded = ended?.filter(({ status }) => status === 'success');
  const newest = (ended ?? []).slice(0, costsMax).map(({ workflowRunId }) => workflowRunId);
  const costs = useQueries({ queries: newest.map((id) => usageQuery(workflowId, id)) });
  const known = costs.flatMap(({ data }) => data ?? []);
  const duration = median(
    (succeeded ?? []).map(
      ({ executedAt, completedAt }) =>
        Date.parse(completedAt ?? executedAt) - Date.parse(executedAt),
    ),
  );
  const isEmpty = ended?.length === 0;
  const of = (count: number) => `of the newest ${formatCount(count)} that ended`;
  return (
    <div className="stack">
      <FigureTiles label="Figures">
        <FigureTile
          name="Success rate"
          value={ended && (isEmpty ? '–' : formatPercent((succeeded?.length ?? 0) / ended.length))}
          note={ended && of(ended.length)}
          more={
            <Link
              to="/workflows/$workflowId/runs"
              params={{ workflowId }}
              search={{ status: 'failed' }}
            >
              Failed runs
            </Link>
          }
        />
        <FigureTile
          name="Duration, median"
          value={ended && (duration === null ? '–' : formatDuration(duration))}
          note="of successful runs"
        />
        <FigureTile
          name="Cost, average"
          value={ended && (known.length === 0 ? '–' : formatCost(averageCost(known)))}
          note={of(newest.length)}
        />
      </FigureTiles>
      {can(useMe(), 'edit') && (
        <div>
          <Button
            component={Link}
            to={`/workflows/${workflowId}/run`}
            leftSection={<Icon name="play" size={14} />}
          >
            Run
          </Button>
        </div>
      )}
    </div>
  );
}

const usageQuery = (workflowId: string, workflowRunId: string) =>
  queryOptions({
    queryKey: ['workflow-runs', workflowId, 'usage', workflowRunId],
    queryFn: async ({ signal }) => {
      const wanted = { signal, omit: 'bodies', include: 'usage' } as const;
      const { usage } = await cueline.workflows.status(workflowId, workflowRunId, wanted);
      return usage?.costUSD ?? 0;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

const averageCost = (costs: readonly number[]) =>
  costs.reduce((sum, one) => sum + one, 0) / costs.length;

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
