import { Stack } from '@mantine/core';
import type { FormEvent } from 'react';
import type { PromptVersion } from '../../../../src/client/index.ts';
import { VersionFields } from '../../../components/fields/version-fields.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { announceSave } from '../../../data/client/saves.ts';
import { useCreateVersion } from '../../../data/prompts/prompt-actions.ts';
import { Dialog, DialogActions } from '../../../kit/dialog.tsx';
import { type Draft, toVersionInput } from '../draft.ts';

/** Saves the draft as a version, with its label and notes. */
export default function SaveVersionDialog(props: {
  readonly promptId: string;
  readonly draft: Draft;
  readonly onEdit: (change: Partial<Draft>) => void;
  readonly onSaved: (sent: Draft, version: PromptVersion) => void;
  readonly onClose: () => void;
}) {
  const { promptId, draft, onEdit, onSaved, onClose } = props;
  const create = useCreateVersion(promptId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(toVersionInput(draft), {
      onSuccess: (version) => {
        onSaved(draft, version);
        announceSave(`Saved as ${version.promptVersionLabel}`);
        onClose();
      },
    });
  };
  return (
    <Dialog title="Save as version" locked={create.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <p>Versions cannot be changed. Agents keep theirs until you pin another.</p>
          <VersionFields about={draft} error={create.error} onChange={onEdit} />
          <FormError error={create.error} />
          <DialogActions submit="Save version" pending={create.isPending} />
        </Stack>
      </form>
    </Dialog>
  );
}
