import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Schedule } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { FormProblem } from '../../components/form-error.tsx';
import { EnabledBadge } from '../../components/state-badge.tsx';
import { Time } from '../../components/time.tsx';
import { stringify } from '../../data/text/exact-json.ts';
import { formatSince, formatTimeIn, viewerZone } from '../../data/text/format.ts';
import { useChangeSchedule, useDeleteSchedule } from '../../data/workflows/triggers.ts';
import { may, useMe } from '../../data/workspace/me.ts';
import classes from './triggers.module.css';

/** One schedule, with its next times in its own and in the viewer's time zone. */
export function ScheduleRow(props: { readonly schedule: Schedule; readonly onEdit: () => void }) {
  const { schedule, onEdit } = props;
  const { workflowId, scheduleId, cron, timeZone, missed, enabled, nextTimes } = schedule;
  const { lastAt, lastError } = schedule;
  const mayEdit = may(useMe(), 'edit');
  const change = useChangeSchedule(workflowId, scheduleId);
  const remove = useDeleteSchedule(workflowId);
  const [asked, { open: ask, close: dismiss }] = useDisclosure();
  const input = stringify(schedule.input);
  return (
    <li>
      <div className={classes.head}>
        <code className={classes.cron}>{cron}</code>
        <span className={classes.zone}>{timeZone}</span>
        <EnabledBadge enabled={enabled} />
        {mayEdit && (
          <Group gap="xs" ml="auto">
            <Button
              size="xs"
              variant="default"
              loading={change.isPending}
              aria-label={`${enabled ? 'Disable' : 'Enable'} ${cron}`}
              onClick={() => change.mutate({ enabled: !enabled })}
            >
              {enabled ? 'Disable' : 'Enable'}
            </Button>
            <Button size="xs" variant="default" aria-label={`Edit ${cron}`} onClick={onEdit}>
              Edit
            </Button>
            <Button size="xs" variant="default" aria-label={`Delete ${cron}`} onClick={ask}>
              Delete
            </Button>
          </Group>
        )}
      </div>
      <p className={classes.words}>
        {missed === 'once' ? 'Missed times start one workflow run.' : 'Missed times are skipped.'}{' '}
        {lastAt ? (
          <>
            Last run <Time at={lastAt} since />.
          </>
        ) : (
          'Not run yet.'
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
          Failed to start <Time at={lastError.at} since />: {lastError.message}
        </p>
      )}
      <FormProblem error={change.error} />
      {nextTimes.length > 0 ? (
        <NextTimes nextTimes={nextTimes} timeZone={timeZone} />
      ) : (
        <p className={classes.none}>{enabled ? 'No upcoming times.' : 'Disabled.'}</p>
      )}
      <ConfirmDialog
        opened={asked}
        title="Delete this schedule?"
        verb="Delete"
        destructive
        order={remove}
        onClose={dismiss}
        onConfirm={() => remove.mutate(scheduleId, { onSuccess: dismiss })}
      >
        <code>{cron}</code> will start no more workflow runs. This cannot be undone. To pause it,
        disable it instead.
      </ConfirmDialog>
    </li>
  );
}

function NextTimes({ nextTimes, timeZone }: Pick<Schedule, 'nextTimes' | 'timeZone'>) {
  const own = timeZone === viewerZone;
  return (
    <table className={classes.times}>
      <caption>Next times</caption>
      <thead>
        <tr>
          <th scope="col">{timeZone}</th>
          {!own && <th scope="col">Your time, {viewerZone}</th>}
          <th scope="col">Due</th>
        </tr>
      </thead>
      <tbody>
        {nextTimes.map((at) => (
          <tr key={at}>
            <td>{formatTimeIn(at, timeZone)}</td>
            {!own && <td>{formatTimeIn(at, viewerZone)}</td>}
            <td>{formatSince(at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
