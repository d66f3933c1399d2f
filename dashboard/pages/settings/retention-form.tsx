import { Button, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { Retention } from '../../../src/client/index.ts';
import { useSetRetention } from '../../data/retention.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { fieldProblem } from '../../parts/form-problem.tsx';
import classes from './settings.module.css';

/** Asked for again before it is set: what is over by it is gone within minutes. */
export function RetentionForm({ retention }: { readonly retention: Retention }) {
  const [records, setRecords] = useState(String(retention.recordsDays ?? ''));
  const [bodies, setBodies] = useState(String(retention.bodiesDays ?? ''));
  const [asked, { open, close }] = useDisclosure();
  const set = useSetRetention();
  const read = (text: string) => (text.trim() === '' ? null : Number(text));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.reset();
    open();
  };
  const save = () =>
    set.mutate({ recordsDays: read(records), bodiesDays: read(bodies) }, { onSuccess: close });
  return (
    <form className={classes.form} onSubmit={submit}>
      <TextInput
        label="Days that records are kept"
        description="Empty is for ever"
        placeholder="for ever"
        inputMode="numeric"
        pattern="\d{0,5}"
        value={records}
        error={fieldProblem(set.error, 'recordsDays')}
        onChange={({ currentTarget }) => setRecords(currentTarget.value)}
      />
      <TextInput
        label="Days that bodies are kept"
        description="Empty is as long as their record"
        placeholder="as long as their record"
        inputMode="numeric"
        pattern="\d{0,5}"
        value={bodies}
        error={fieldProblem(set.error, 'bodiesDays')}
        onChange={({ currentTarget }) => setBodies(currentTarget.value)}
      />
      <div>
        <Button type="submit">Save</Button> {set.isSuccess && <span role="status">Saved.</span>}
      </div>
      <ConfirmDialog
        opened={asked}
        title="Change how long records stay?"
        verb="Change"
        destructive
        pending={set.isPending}
        error={set.error}
        onClose={close}
        onConfirm={save}
      >
        What is older than that goes within minutes, and nothing brings it back. The statistics
        stay.
      </ConfirmDialog>
    </form>
  );
}
