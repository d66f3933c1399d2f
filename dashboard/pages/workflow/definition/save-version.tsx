import { Button, Checkbox, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Workflow, WorkflowVersion } from '../../../../src/client/index.ts';
import editor from '../../../components/editor/editor.module.css';
import { VersionFields } from '../../../components/fields/version-fields.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { type AddedVersion, useAddVersion } from '../../../data/workflows/workflow-actions.ts';
import type { WorkflowDefinition } from '../../../data/workflows/workflows.ts';
import type { DefinitionDraft } from './definition-draft.ts';

/** Saves the draft as a new, immutable version. */
export function SaveVersion(props: {
  readonly workflow: Workflow;
  readonly draft: DefinitionDraft;
  /** The parsed and validated definition. */
  readonly definition: unknown;
  readonly changed: boolean;
  readonly valid: boolean;
  readonly onSaved: (sent: DefinitionDraft, version: WorkflowVersion) => void;
}) {
  const { workflow, draft, definition, changed, valid, onSaved } = props;
  const [about, setAbout] = useState({ label: '', notes: '', pin: true });
  const add = useAddVersion(workflow.workflowId);
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { label, notes, pin } = about;
    const version = {
      // The server has validated it.
      definition: definition as WorkflowDefinition,
      notes: notes || null,
      ...(label && { label }),
    };
    const onSuccess = ({ version: { workflowVersionId: from } }: AddedVersion) => {
      // Edits made meanwhile belong to the next version.
      setAbout((now) => ({
        label: now.label === label ? '' : now.label,
        notes: now.notes === notes ? '' : now.notes,
        pin: now.pin === pin || now.pin,
      }));
      // Show the saved version.
      void navigate({ to: '.', search: { from } as never, replace: true });
    };
    // Clears the draft even if the user has left the page.
    add.mutateAsync({ version, pin }, { onSuccess }).then(
      (added) => onSaved(draft, added.version),
      () => {},
    );
  };
  const saved = changed ? undefined : add.data;
  return (
    <Card title="Save as new version">
      <form onSubmit={submit}>
        <Stack gap="sm" maw="32rem">
          <VersionFields
            about={about}
            error={add.error}
            onChange={(change) => setAbout({ ...about, ...change })}
          />
          <Checkbox
            label="Pin this version for new workflow runs"
            checked={about.pin}
            onChange={({ currentTarget: { checked: pin } }) => setAbout({ ...about, pin })}
          />
          <FormError error={add.error ?? saved?.pinError} />
          {saved && (
            <div className={editor.saved} role="status">
              Saved as {saved.version.workflowVersionLabel}
              {saved.pinned
                ? ' and pinned. Workflow runs in progress keep their version.'
                : `. “${workflow.workflowVersionLabel}” stays pinned.`}
            </div>
          )}
          <div>
            <Button type="submit" loading={add.isPending} disabled={!(changed && valid)}>
              Save version
            </Button>
          </div>
        </Stack>
      </form>
    </Card>
  );
}
