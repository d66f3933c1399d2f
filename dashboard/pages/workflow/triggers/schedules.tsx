import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import type { Schedule } from '../../../../src/client/index.ts';
import { Icon } from '../../../components/icon.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { StaleNotice } from '../../../components/states/stale-notice.tsx';
import { schedulesQuery } from '../../../data/workflows/triggers.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { ScheduleRow } from './schedule-row.tsx';
import classes from './triggers.module.css';

const ScheduleForm = lazyComponent(() => import('./schedule-form.tsx'), true);

export function Schedules({ workflowId }: { readonly workflowId: string }) {
  const schedules = useQuery(schedulesQuery(workflowId));
  const canEdit = can(useMe(), 'edit');
  const [dialog, setDialog] = useState<Schedule | 'new' | null>(null);
  return (
    <Card
      title="Schedules"
      actions={
        canEdit && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="plus" size={12} />}
            onClick={() => setDialog('new')}
          >
            New schedule
          </Button>
        )
      }
    >
      <StaleNotice query={schedules} />
      {schedules.isError && !schedules.data ? (
        <ErrorState error={schedules.error} onRetry={() => void schedules.refetch()} />
      ) : !schedules.data ? (
        <Skeleton height={120} />
      ) : schedules.data.schedules.length === 0 ? (
        <p className={classes.muted}>
          No schedules yet. A schedule starts exactly one workflow run at each of its times,
          regardless of the number of processes.
        </p>
      ) : (
        <ul className={classes.schedules}>
          {schedules.data.schedules.map((schedule) => (
            <ScheduleRow
              key={schedule.scheduleId}
              schedule={schedule}
              onEdit={() => setDialog(schedule)}
            />
          ))}
        </ul>
      )}
      <Suspense>
        {dialog && (
          <ScheduleForm
            workflowId={workflowId}
            schedule={dialog === 'new' ? null : dialog}
            onClose={() => setDialog(null)}
          />
        )}
      </Suspense>
    </Card>
  );
}
