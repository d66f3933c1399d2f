import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Workflow } from '../../../../src/client/index.ts';
import { FigureTile, FigureTiles } from '../../../components/analytics/figure-tile.tsx';
import { Icon } from '../../../components/icon.tsx';
import {
  formatCostSum,
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
  const used = useQuery(workflowRunsQuery(workflowId, { limit: costsMax, include: 'usage' }));
  const costs = used.data?.runs.flatMap((run) => (isInProgress(run) ? [] : (run.usage ?? [])));
  const duration = median(
    (succeeded ?? []).map(
      ({ executedAt, completedAt }) =>
        Date.parse(completedAt ?? executedAt) - Date.parse(executedAt),
    ),
  );
  const isEmpty = ended?.length === 0;
  const of = (count: number) =>
    count === 0 ? 'no run has ended' : `of the newest ${formatCount(count)} that ended`;
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
          value={costs && (costs.length === 0 ? '–' : formatCostSum(average(costs)))}
          note={costs && of(costs.length)}
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

/** A lower bound if a cost is unknown. */
function average(usages: readonly { costUSD: number; costUnknown: number }[]) {
  const sum = (of: 'costUSD' | 'costUnknown') => usages.reduce((total, one) => total + one[of], 0);
  return { costUSD: sum('costUSD') / usages.length, costUnknown: sum('costUnknown') };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
