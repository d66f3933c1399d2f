import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Schedule } from '../../../../src/client/index.ts';
import { Icon } from '../../../components/icon.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { schedules } from '../../../data/workflows/triggers.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { SmallButton } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { ScheduleRow } from './schedule-row.tsx';
import classes from './triggers.module.css';

const ScheduleForm = lazyComponent(() => import('./schedule-form.tsx'), true);

export function Schedules({ workflowId }: { readonly workflowId: string }) {
  const listed = useQuery({
    ...schedules.list(workflowId, { limit: 100 }),
    // The next times pass while the page is open.
    refetchInterval: 60_000,
  });
  const canEdit = can(useMe(), 'edit');
  const edit = (schedule: Schedule | null) =>
    openDialog(<ScheduleForm workflowId={workflowId} schedule={schedule} />);
  return (
    <Card
      title="Schedules"
      actions={
        canEdit && (
          <SmallButton
            label="New schedule"
            leftSection={<Icon name="plus" size={12} />}
            onClick={() => edit(null)}
          />
        )
      }
    >
      <StaleNotice query={listed} />
      {listed.isError && !listed.data ? (
        <ErrorState error={listed.error} onRetry={() => void listed.refetch()} />
      ) : !listed.data ? (
        <Skeleton height={120} />
      ) : listed.data.schedules.length === 0 ? (
        <p className="note">
          No schedules yet. A schedule starts exactly one workflow run at each of its times,
          regardless of the number of processes.
        </p>
      ) : (
        <ul className={classes.schedules}>
          {listed.data.schedules.map((schedule) => (
            <ScheduleRow
              key={schedule.scheduleId}
              schedule={schedule}
              onEdit={() => edit(schedule)}
            />
          ))}
        </ul>
      )}
    </Card>
  );
}
