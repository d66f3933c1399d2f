import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Prompt } from '../../../src/client/index.ts';
import { RenameDialog } from '../../components/dialogs/rename-dialog.tsx';
import { archivePrompt, changePrompt } from '../../data/prompts/prompt-actions.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';
import { openDialog } from '../../kit/dialog.tsx';
import { withInput } from '../../kit/resource.ts';
import { ActionMenu } from '../../kit/row-menu.tsx';

/** Actions on the whole prompt. */
export function PromptActions({ prompt }: { readonly prompt: Prompt }) {
  if (!can(useMe(), 'edit')) return null;
  const { promptId, archived, latestVersion } = prompt;
  const change = changePrompt(promptId);
  const visibility = visibilities[prompt.visibility];
  const archive = archives[archived ? 'archived' : 'shown'];
  return (
    <>
      {!archived && latestVersion && (
        <Button
          component={Link}
          to="/agents/new"
          // Typed by the target route, but a polymorphic Button loses the type.
          search={{ promptId, promptVersionId: latestVersion.promptVersionId } as never}
          variant="default"
        >
          Create agent
        </Button>
      )}
      <ActionMenu
        label="Prompt actions"
        actions={[
          ['Edit details', () => openDialog(<RenameDialog named={prompt} action={change} />)],
          [
            visibility.confirm,
            () =>
              openDialog(
                <ConfirmDialog
                  {...visibility}
                  destructive={false}
                  action={withInput(change, { visibility: visibility.next })}
                />,
              ),
          ],
          [
            archive.confirm,
            () =>
              openDialog(
                <ConfirmDialog
                  {...archive}
                  destructive={false}
                  action={archivePrompt(promptId, archive.verb)}
                />,
              ),
          ],
        ]}
      />
    </>
  );
}

/** What can be made of a prompt that is private or public. */
const visibilities = {
  private: {
    title: 'Make this prompt public?',
    confirm: 'Make public',
    next: 'public',
    children: 'All members of the workspace will see it.',
  },
  public: {
    title: 'Make this prompt private?',
    confirm: 'Make private',
    next: 'private',
    children:
      'Only its creator and owners will see it. All who see an agent still see the version that it pins.',
  },
} as const;

const archives = {
  shown: {
    title: 'Archive this prompt?',
    confirm: 'Archive',
    verb: 'archive',
    children:
      'Hides the prompt from the list and blocks new versions and agents. Agents that pin its versions keep working. You can restore it at any time.',
  },
  archived: {
    title: 'Restore this prompt?',
    confirm: 'Restore',
    verb: 'restore',
    children: 'Shows the prompt in the list again and allows new versions and agents.',
  },
} as const;
