/**
 * Words: the address, the ref, the mark. It runs in a folder of its own, in which nothing of the user's lies: settings of
 * git that an agent wrote there would otherwise be handed the credential.
 */
export const cloneScript = `
set -e
case "$2" in
  *[!0-9a-f]*) git clone --quiet --branch "$2" -- "$1" /clone/repo ;;
  ????????????????????????????????????????)
    git clone --quiet --no-checkout -- "$1" /clone/repo
    git -C /clone/repo checkout --quiet --detach "$2" ;;
  *) git clone --quiet --branch "$2" -- "$1" /clone/repo ;;
esac
printf %s "$3" >/clone/repo/.git/vestra-mark
`;

/**
 * Words: where it goes, the mark. What stands in its place is moved aside: it may hold work that nobody has anywhere
 * else. The same clone, made before a crash, is left as it is.
 */
export const moveScript = `
set -e
if [ -e "$1" ] || [ -L "$1" ]; then
  if [ "$(cat -- "$1/.git/vestra-mark" 2>/dev/null)" = "$2" ]; then exit 0; fi
  number=1
  while [ -e "$1.before-$number" ]; do number=$((number + 1)); done
  rmdir -- "$1" 2>/dev/null || mv -T -- "$1" "$1.before-$number"
fi
mkdir -p -- "\${1%/*}"
rm -rf -- "$1.part"
cp -a -- /clone/repo "$1.part"
mv -T -- "$1.part" "$1"
`;

/** The credential goes by the environment of this one process, to this one host, and is kept by nobody. */
export function credentialVariables(url: string, token: string | null): Record<string, string> {
  const { origin } = new URL(url);
  const settings: [string, string][] = [
    ['credential.helper', ''],
    ...(token === null ? [] : [[`credential.${origin}.helper`, helper] as [string, string]]),
  ];
  return {
    HOME: '/tmp',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: 'http:https',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(settings.map(([key], at) => [`GIT_CONFIG_KEY_${at}`, key])),
    ...Object.fromEntries(settings.map(([, value], at) => [`GIT_CONFIG_VALUE_${at}`, value])),
    ...(token !== null && { VESTRA_GIT_TOKEN: token }),
  };
}

/** Any user name will do where the password is a token. */
const helper = '!f() { test "$1" = get && printf "username=x-access-token\\npassword=%s\\n" "$VESTRA_GIT_TOKEN"; }; f';
