import { useSyncExternalStore } from 'react';
import { Icon } from '../../components/icon.tsx';
import { latestSave, subscribeToSaves } from '../../data/client/saves.ts';
import classes from './save-status.module.css';

/**
 * Announces each save, and what failed instead, to eyes and to screen readers. Always mounted: a live region must exist
 * before its text.
 */
export function SaveStatus() {
  const save = useSyncExternalStore(subscribeToSaves, latestSave);
  return (
    <div role="status" className={classes.region}>
      {save && (
        <div className={classes.save} data-failed={save.failed || undefined}>
          <Icon name={save.failed ? 'warning' : 'check'} size={14} />
          {save.text}
        </div>
      )}
    </div>
  );
}
