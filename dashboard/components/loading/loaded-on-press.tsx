import { useMounted } from '@mantine/hooks';
import {
  type ComponentProps,
  cloneElement,
  type ReactElement,
  type ReactNode,
  type Ref,
  type RefObject,
  Suspense,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from 'react';

/** What a menu or popover needs to know of the button that opens it. */
export interface PopupProps {
  /** The id of the button, which labels the popup. */
  readonly id: string;
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly opened: boolean;
  readonly onChange: (opened: boolean) => void;
}

/**
 * A button whose first press loads what it opens, so that no page loads menus that nobody opens. The button stays the
 * same element, so that it keeps the focus.
 */
export function LoadedOnPress(props: {
  readonly button: ReactElement<ComponentProps<'button'>>;
  /** `onClose` closes the error dialog if loading fails. */
  readonly children: (popup: PopupProps & { readonly onClose: () => void }) => ReactNode;
}) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [state, setState] = useState<'unused' | 'open' | 'closed'>('unused');
  const isOpen = state === 'open';
  const onChange = (opened: boolean) => setState(opened ? 'open' : 'closed');
  const onClose = () => setState('unused');
  const onClick = () => onChange(!isOpen);
  return (
    <>
      {cloneElement(props.button, { ref: button, id, onClick, 'aria-expanded': isOpen })}
      {state !== 'unused' && (
        <Suspense>
          <OpenedOnceMounted opened={isOpen}>
            {(opened) => props.children({ id, button, opened, onChange, onClose })}
          </OpenedOnceMounted>
        </Suspense>
      )}
    </>
  );
}

/** Mantine returns focus only if the popup opens after it has mounted. */
function OpenedOnceMounted(props: {
  readonly opened: boolean;
  readonly children: (opened: boolean) => ReactNode;
}) {
  return props.children(useMounted() && props.opened);
}

/** The target of the menu or popover: places it at the button. */
export function PopupTarget(props: {
  readonly button: PopupProps['button'];
  readonly ref?: Ref<HTMLButtonElement>;
}) {
  const { button } = props;
  // The button is mounted before its popup.
  useImperativeHandle(props.ref, () => button.current as HTMLButtonElement, [button]);
  return null;
}
