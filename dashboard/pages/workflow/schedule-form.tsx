import {
  Autocomplete,
  Button,
  Group,
  NativeSelect,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Schedule } from '../../../src/client/index.ts';
import { Dialog, DialogCloseButton } from '../../components/dialogs/dialog.tsx';
import { FormError, fieldError } from '../../components/form-error.tsx';
import { LabelFields, useLabels, withNulls } from '../../components/label-fields.tsx';
import { stringify } from '../../data/text/exact-json.ts';
import { viewerZone } from '../../data/text/format.ts';
import { parseJsonObject } from '../../data/text/json-object.ts';
import { useChangeSchedule, useCreateSchedule } from '../../data/workflows/triggers.ts';

/** Creates or edits a schedule. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one form: its fields and their state read best together
export default function ScheduleForm(props: {
  readonly workflowId: string;
  /** Null creates a schedule. */
  readonly schedule: Schedule | null;
  readonly onClose: () => void;
}) {
  const { workflowId, schedule, onClose } = props;
  const [cron, setCron] = useState(schedule?.cron ?? '0 2 * * *');
  const [timeZone, setTimeZone] = useState(schedule?.timeZone ?? viewerZone);
  const [missed, setMissed] = useState<Schedule['missed']>(schedule?.missed ?? 'skip');
  const [input, setInput] = useState(stringify(schedule?.input ?? {}, 2));
  const create = useCreateSchedule(workflowId);
  const change = useChangeSchedule(workflowId, schedule?.scheduleId ?? '');
  const { error, isPending } = schedule ? change : create;
  const given = parseJsonObject(input);
  const whom = useLabels(schedule ?? {});
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!given || !whom.labels) return;
    const values = { cron, timeZone, missed, input: given };
    if (schedule) change.mutate({ ...values, ...withNulls(whom.labels) }, { onSuccess: onClose });
    else {
      const { tags, ...labels } = whom.labels;
      const body = { ...values, ...labels, ...(tags && { tags: [...tags] }) };
      create.mutate(body, { onSuccess: onClose });
    }
  };
  return (
    <Dialog
      locked={isPending}
      onClose={onClose}
      title={schedule ? 'Edit schedule' : 'New schedule'}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput
            label="Cron expression"
            description="Minute, hour, day of month, month, day of week"
            placeholder="*/15 8-18 * * MON-FRI"
            required
            withAsterisk={false}
            maxLength={200}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mono)' } }}
            data-autofocus
            value={cron}
            error={fieldError(error, 'cron')}
            onChange={({ currentTarget }) => setCron(currentTarget.value)}
          />
          <Autocomplete
            label="Time zone"
            description="The time zone of the cron expression"
            data={zones}
            limit={20}
            required
            withAsterisk={false}
            value={timeZone}
            error={fieldError(error, 'timeZone')}
            onChange={setTimeZone}
          />
          <NativeSelect
            label="Missed times"
            description="Times missed by more than a minute, for example while the server was down"
            data={[
              { value: 'skip', label: 'Skip' },
              { value: 'once', label: 'Start one workflow run for all' },
            ]}
            value={missed}
            onChange={({ currentTarget }) => setMissed(currentTarget.value as Schedule['missed'])}
          />
          <Textarea
            label="Input"
            description="The input of each workflow run, a JSON object"
            autosize
            minRows={3}
            maxRows={14}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mono)', fontSize: '0.78125rem' } }}
            value={input}
            error={given ? fieldError(error, 'input') : 'Not a JSON object.'}
            onChange={({ currentTarget }) => setInput(currentTarget.value)}
          />
          <LabelFields {...whom} />
          <FormError error={error} />
          <Group justify="flex-end" gap="xs">
            <DialogCloseButton>Cancel</DialogCloseButton>
            <Button type="submit" loading={isPending} disabled={!given || !whom.labels}>
              {schedule ? 'Save schedule' : 'Create schedule'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
