import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Retention } from '../../../../src/client/index.ts';
import { FormError } from '../../../components/states/form-error.tsx';
import { useSingleFlight } from '../../../data/client/use-single-flight.ts';
import { retentionQuery, setRetention } from '../../../data/workspace/retention.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { withInput } from '../../../kit/resource.ts';
import { formatDays } from './format-days.ts';

/** Edited fields. Untouched fields follow the current settings. */
type Typed = { readonly [Name in keyof Retention]?: string };

/**
 * Asks for confirmation, because expired records are deleted within minutes. It first refetches the settings, so that
 * untouched fields are not reverted to outdated values.
 */
export function RetentionForm({ retention }: { readonly retention: Retention }) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState<Typed>({});
  const refresh = useSingleFlight({
    mutationFn: () => queries.fetchQuery({ ...retentionQuery, staleTime: 0 }),
    onSuccess: (from) => {
      openDialog(<ConfirmRetention from={from} to={{ ...from, ...read(typed) }} />);
      // The dialog has what was typed: without it, nothing changes.
      setTyped({});
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    refresh.mutate();
  };
  const field = (name: keyof Retention) => ({
    inputMode: 'numeric' as const,
    pattern: '\\d{0,5}',
    value: typed[name] ?? String(retention[name] ?? ''),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      setTyped({ ...typed, [name]: event.currentTarget.value }),
  });
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        label="Keep records (days)"
        description="Leave empty to keep them forever"
        placeholder="Forever"
        {...field('recordsDays')}
      />
      <TextInput
        label="Keep bodies (days)"
        description="Leave empty to keep them as long as their record"
        placeholder="Same as record"
        {...field('bodiesDays')}
      />
      <FormError error={refresh.error} />
      <div>
        <Button type="submit" loading={refresh.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

function ConfirmRetention(props: { readonly from: Retention; readonly to: Retention }) {
  const { from, to } = props;
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title="Change retention?"
      confirm="Change"
      action={withInput(setRetention, to)}
      onDone={(saved) => queries.setQueryData(retentionQuery.queryKey, saved)}
    >
      <p>{changeText('Records', 'forever', from.recordsDays, to.recordsDays)}</p>
      <p>{changeText('Bodies', bodiesNullText, from.bodiesDays, to.bodiesDays)}</p>
      <p>Older data is deleted within minutes. This cannot be undone. Statistics stay.</p>
    </ConfirmDialog>
  );
}

const bodiesNullText = 'as long as their record';

function read(typed: Typed): Partial<Retention> {
  const days = Object.entries(typed).map(([name, text]) => [
    name,
    (text ?? '').trim() === '' ? null : Number(text),
  ]);
  return Object.fromEntries(days);
}

function changeText(subject: string, nullText: string, from: number | null, to: number | null) {
  if (from === to) return `${subject}: ${formatDays(from, nullText)} (unchanged).`;
  return `${subject}: ${formatDays(to, nullText)} (previously ${formatDays(from, nullText)}).`;
}
