/** Stroke icons on a 24 px grid in the current text colour. Always decorative: the label must say the same. */
const paths = {
  agents:
    'M12 3v3M7 6h10a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2zM9.5 11v2M14.5 11v2M9 21h6',
  prompts: 'M5 4h14v16H5zM9 9h6M9 13h6M9 17h3',
  workflows: 'M3.5 9.5h5v5h-5zM15.5 4h5v5h-5zM15.5 15h5v5h-5zM8.5 12h3.5M15.5 6.5H12v11h3.5',
  history: 'M4 12a8 8 0 1 0 2.6-5.9L4 8.5M4 4v4.5h4.5M12 8v4.5l3 1.8',
  keys: 'M14.5 9.5a4 4 0 1 0-3.4 4L13 15.4h2v2h2v2h3v-3.2l-5.7-5.7M8.5 8.5h.01',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  reference: 'M5 4.5h9l5 5V20H5zM14 4.5v5h5M9 14h6',
  analytics: 'M4 20h16M7 16v-5M12 16V5M17 16v-8',
  overview: 'M4 4h7v9H4zM14 4h6v5h-6zM14 12h6v8h-6zM4 16h7v4H4z',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.8-4.8',
  menu: 'M4 7h16M4 12h16M4 17h16',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20c.8-3.4 3.6-5 7-5s6.2 1.6 7 5',
  leave: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9',
  light:
    'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4',
  dark: 'M20 14.5A8.2 8.2 0 0 1 9.5 4a8.2 8.2 0 1 0 10.5 10.5z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  keyboard: 'M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  down: 'M6 9l6 6 6-6',
  up: 'M6 15l6-6 6 6',
  first: 'M17 6l-6 6 6 6M7 6v12',
  last: 'M7 6l6 6-6 6M17 6v12',
  warning: 'M12 4 2.8 19.5h18.4zM12 10v4.5M12 17h.01',
  empty: 'M4 13l3-8h10l3 8v6H4zM4 13h5l1.2 2.5h3.6L15 13h5',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  play: 'M8 5.5v13l10-6.5z',
  external: 'M14 5h5v5M19 5l-8 8M11 6H5v13h13v-6',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      // Dots need a thicker stroke to be visible.
      strokeWidth={name === 'more' ? 2.75 : 1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
