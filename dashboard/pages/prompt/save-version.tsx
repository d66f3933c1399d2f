import { Button, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { Prompt, PromptVersion } from '../../../src/client/index.ts';
import editor from '../../components/editor/editor.module.css';
import { VersionFields } from '../../components/fields/version-fields.tsx';
import { Card } from '../../components/layout/card.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { useCreateVersion } from '../../data/prompts/prompt-actions.ts';
import { type Draft, draftProblem, toVersionInput } from './draft.ts';
import { PinToButton } from './pin-to.tsx';

/** Saves the draft as a new, immutable version. */
export function SaveVersion(props: {
  readonly prompt: Prompt;
  readonly draft: Draft;
  readonly changed: boolean;
  readonly onEdit: (change: Partial<Draft>) => void;
  readonly onSaved: (sent: Draft, version: PromptVersion) => void;
}) {
  const { prompt, draft, changed, onEdit, onSaved } = props;
  const create = useCreateVersion(prompt.promptId);
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The saved version is the latest: remove `from`, which named its base.
    const onSuccess = () => void navigate({ to: '.', search: {} as never, replace: true });
    // Clears the draft even if the user has left the page.
    create.mutateAsync(toVersionInput(draft), { onSuccess }).then(
      (version) => onSaved(draft, version),
      () => {},
    );
  };
  return (
    <Card title="Save as new version">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <VersionFields about={draft} error={create.error} onChange={onEdit} />
          <FormError error={create.error} />
          {create.isSuccess && !changed && (
            <div className={editor.saved} role="status">
              Saved as {create.data.promptVersionLabel}. Agents keep their pinned version until you
              pin another.{' '}
              <PinToButton
                promptId={prompt.promptId}
                version={{
                  id: create.data.promptVersionId,
                  label: create.data.promptVersionLabel,
                }}
              />
            </div>
          )}
          <Button
            type="submit"
            fullWidth
            loading={create.isPending}
            disabled={!changed || draftProblem(draft) !== null}
          >
            Save version
          </Button>
        </Stack>
      </form>
    </Card>
  );
}
