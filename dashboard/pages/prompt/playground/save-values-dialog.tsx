import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { announceSave } from '../../../data/client/saves.ts';
import { setNameMax, type ValueSets } from '../../../data/prompts/value-sets.ts';
import { Dialog, DialogActions } from '../../../kit/dialog.tsx';
import classes from './playground.module.css';

/** Saves the values of the variables as a set, in this browser. */
export default function SaveValuesDialog(props: {
  readonly sets: ValueSets;
  readonly values: Readonly<Record<string, string>>;
  readonly onClose: () => void;
}) {
  const { sets, values, onClose } = props;
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const name = typed.trim();
  const replaces = sets.sets.some((one) => one.name === name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name === '') return;
    const failed = sets.save({ name, values });
    setProblem(failed);
    if (failed !== null) return;
    announceSave('Values saved');
    onClose();
  };
  return (
    <Dialog title="Save values" onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <p>The values stay in this browser. Only you see them here.</p>
          <TextInput
            data-autofocus
            label="Name"
            description={replaces ? 'Replaces the set with this name.' : undefined}
            maxLength={setNameMax}
            value={typed}
            error={problem}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          {sets.sets.length > 0 && (
            <ul className={classes.sets} aria-label="Saved values">
              {sets.sets.map((one) => (
                <li key={one.name}>
                  <span dir="auto">{one.name}</span>
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Delete ${one.name}`}
                    onClick={() => sets.remove(one.name)}
                  >
                    Delete
                  </Button>
                </li>
              ))}
            </ul>
          )}
          <DialogActions submit="Save" disabled={name === ''} />
        </Stack>
      </form>
    </Dialog>
  );
}
