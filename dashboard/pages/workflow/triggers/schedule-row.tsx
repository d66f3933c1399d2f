import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Schedule } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { Time } from '../../../components/figures/time.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { EnabledBadge } from '../../../components/states/state-badge.tsx';
import { stringify } from '../../../data/text/exact-json.ts';
import { describeRepeat, readRepeat } from '../../../data/workflows/repeat.ts';
import { useChangeSchedule, useDeleteSchedule } from '../../../data/workflows/triggers.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { NextTimes } from './next-times.tsx';
import classes from './triggers.module.css';

/** One schedule, with its next times in its own and in the viewer's time zone. */
export function ScheduleRow(props: { readonly schedule: Schedule; readonly onEdit: () => void }) {
  const { schedule, onEdit } = props;
  const { workflowId, scheduleId, cron, timeZone, missed, enabled, nextTimes } = schedule;
  const { lastAt, lastError } = schedule;
  const canEdit = can(useMe(), 'edit');
  const change = useChangeSchedule(workflowId, scheduleId);
  const remove = useDeleteSchedule(workflowId);
  const [isConfirming, { open: openConfirm, close: closeConfirm }] = useDisclosure();
  const input = stringify(schedule.input);
  const repeat = readRepeat(cron);
  const name = describeRepeat(repeat);
  return (
    <li>
      <div className={classes.head}>
        {repeat.kind === 'cron' ? (
          <code className={classes.repeat}>{cron}</code>
        ) : (
          <span className={classes.repeat}>{name}</span>
        )}
        <span className={classes.zone}>
          {timeZone}
          {repeat.kind !== 'cron' && (
            <>
              {' · '}
              <code>{cron}</code>
            </>
          )}
        </span>
        <EnabledBadge enabled={enabled} />
        {canEdit && (
          <Group gap="xs" ml="auto">
            <Button
              size="xs"
              variant="default"
              loading={change.isPending}
              aria-label={`${enabled ? 'Disable' : 'Enable'} ${name}`}
              onClick={() => change.mutate({ enabled: !enabled })}
            >
              {enabled ? 'Disable' : 'Enable'}
            </Button>
            <Button size="xs" variant="default" aria-label={`Edit ${name}`} onClick={onEdit}>
              Edit
            </Button>
            <Button size="xs" variant="default" aria-label={`Delete ${name}`} onClick={openConfirm}>
              Delete
            </Button>
          </Group>
        )}
      </div>
      <p className={classes.text}>
        {missed === 'once' ? 'Missed times start one workflow run.' : 'Missed times are skipped.'}{' '}
        {lastAt ? (
          <>
            Last workflow run <Time at={lastAt} relative />.
          </>
        ) : (
          'No workflow run yet.'
        )}
        {input !== '{}' && (
          <>
            {' '}
            Input <code>{input}</code>
          </>
        )}
      </p>
      {lastError && (
        <p className={classes.failed}>
          Failed to start <Time at={lastError.at} relative />: {lastError.message}
        </p>
      )}
      <FormError error={change.error} />
      {nextTimes.length > 0 ? (
        <NextTimes nextTimes={nextTimes} timeZone={timeZone} />
      ) : (
        <p className={classes.muted}>{enabled ? 'No upcoming times.' : 'Disabled.'}</p>
      )}
      <ConfirmDialog
        opened={isConfirming}
        title="Delete this schedule?"
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={closeConfirm}
        onConfirm={() => remove.mutate(scheduleId, { onSuccess: closeConfirm })}
      >
        “{name}” will start no more workflow runs. This cannot be undone. To pause it, disable it
        instead.
      </ConfirmDialog>
    </li>
  );
}
