import { Button, Checkbox, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Workflow, WorkflowVersion } from '../../../src/client/index.ts';
import { Card } from '../../components/card.tsx';
import editor from '../../components/editor/editor.module.css';
import { VersionFields } from '../../components/fields/version-fields.tsx';
import { FormProblem } from '../../components/form-error.tsx';
import {
  type AddedVersion,
  useAddVersion,
  type WorkflowDefinition,
} from '../../data/workflows/workflows.ts';
import type { DefinitionDraft } from './definition-draft.ts';

/** Makes a version of what is written. It cannot be changed after, so it is said what that means. */
export function SaveVersion(props: {
  readonly workflow: Workflow;
  readonly draft: DefinitionDraft;
  /** What the draft says, as it was read and judged. */
  readonly definition: unknown;
  readonly changed: boolean;
  /** Whether it can be saved as it stands. */
  readonly fine: boolean;
  readonly onSaved: (sent: DefinitionDraft, version: WorkflowVersion) => void;
}) {
  const { workflow, draft, definition, changed, fine, onSaved } = props;
  const [about, setAbout] = useState({ label: '', notes: '', pin: true });
  const add = useAddVersion(workflow.workflowId);
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { label, notes, pin } = about;
    const version = {
      // The server has judged it.
      definition: definition as WorkflowDefinition,
      notes: notes || null,
      ...(label && { label }),
    };
    const onSuccess = ({ version: { workflowVersionId: from } }: AddedVersion) => {
      // What was typed since is about the next one.
      setAbout((now) => ({
        label: now.label === label ? '' : now.label,
        notes: now.notes === notes ? '' : now.notes,
        pin: now.pin === pin || now.pin,
      }));
      // What was saved is shown, whatever it began with.
      void navigate({ to: '.', search: { from } as never, replace: true });
    };
    // The draft is that no more, also where another page is shown by then.
    add.mutateAsync({ version, pin }, { onSuccess }).then(
      (added) => onSaved(draft, added.version),
      () => {},
    );
  };
  const saved = changed ? undefined : add.data;
  return (
    <Card title="Save as a new version">
      <form onSubmit={submit}>
        <Stack gap="sm" maw="32rem">
          <VersionFields
            about={about}
            error={add.error}
            onChange={(change) => setAbout({ ...about, ...change })}
          />
          <Checkbox
            label="Pin it: from the next run on it is what is carried out"
            checked={about.pin}
            onChange={({ currentTarget: { checked: pin } }) => setAbout({ ...about, pin })}
          />
          <FormProblem error={add.error ?? saved?.pinError} />
          {saved && (
            <div className={editor.saved} role="status">
              Saved as {saved.version.workflowVersionLabel}
              {saved.pinned
                ? ' and pinned. Runs that are under way keep the version they began with.'
                : `. “${workflow.workflowVersionLabel}” stays pinned.`}
            </div>
          )}
          <div>
            <Button type="submit" loading={add.isPending} disabled={!(changed && fine)}>
              Save the version
            </Button>
          </div>
        </Stack>
      </form>
    </Card>
  );
}
