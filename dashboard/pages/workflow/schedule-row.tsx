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

/** One schedule, with its next times on its own clocks and on those of the viewer. */
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
              aria-label={`${enabled ? 'Switch off' : 'Switch on'} ${cron}`}
              onClick={() => change.mutate({ enabled: !enabled })}
            >
              {enabled ? 'Switch off' : 'Switch on'}
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
        {missed === 'once'
          ? 'What was missed is made up for by one run.'
          : 'What was missed is passed over.'}{' '}
        {lastAt ? (
          <>
            Last started a run <Time at={lastAt} since />.
          </>
        ) : (
          'Has started no run yet.'
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
          Could not start a run <Time at={lastError.at} since />: {lastError.message}
        </p>
      )}
      <FormProblem error={change.error} />
      {nextTimes.length > 0 ? (
        <NextTimes nextTimes={nextTimes} timeZone={timeZone} />
      ) : (
        <p className={classes.none}>{enabled ? 'No time of it will come.' : 'It does not tick.'}</p>
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
        <code>{cron}</code> starts no more runs, and nothing brings it back. To stop it for a while,
        switch it off.
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
          {!own && <th scope="col">Yours, {viewerZone}</th>}
          <th scope="col">When</th>
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
