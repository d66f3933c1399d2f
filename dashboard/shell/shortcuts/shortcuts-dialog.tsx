import { Checkbox, Kbd, Modal } from '@mantine/core';
import { useEffect, useState } from 'react';
import { navigationItems } from '../navigation/navigation-items.ts';
import { commandKey } from './command-key.ts';
import classes from './shortcuts-dialog.module.css';
import { setSingleKeyShortcuts, singleKeyShortcutsEnabled } from './single-key-shortcuts.ts';

const shortcuts: readonly (readonly [string, readonly string[]])[] = [
  ['Open the command palette', [commandKey, 'K']],
  ['Search the list', ['/']],
  ...navigationItems.map(({ label, key }) => [`Go to ${label}`, ['g', key]] as const),
  ['Run', [commandKey, 'Enter']],
  ['Next or previous execution', ['j', 'k']],
  ['Open execution beside the list', ['Enter']],
  ['Open page of execution', ['o']],
  ['Run execution again', ['r']],
  ['Copy link to execution', ['c']],
  ['Select execution', ['x']],
  ['Close dialog or panel', ['Esc']],
  ['Show keyboard shortcuts', ['?']],
];

export default function ShortcutsDialog({ openRequests }: { readonly openRequests: number }) {
  const [opened, setOpened] = useState(false);
  const [single, setSingle] = useState(singleKeyShortcutsEnabled);
  const choose = (on: boolean) => {
    setSingleKeyShortcuts(on);
    setSingle(on);
  };
  // Each request opens it, even the first: Mantine returns focus only if it opens after it has mounted.
  useEffect(() => setOpened(true), [openRequests]);
  return (
    <Modal opened={opened} onClose={() => setOpened(false)} title="Keyboard shortcuts" size="sm">
      <dl className={classes.list}>
        {shortcuts.map(([action, keys]) => (
          <div key={action}>
            <dt>{action}</dt>
            <dd>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Checkbox
        mt="md"
        label="Enable single-key shortcuts"
        checked={single}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
      />
    </Modal>
  );
}
