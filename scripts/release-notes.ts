/** The section of the changelog for a version, without its heading. Throws if there is none or if it is empty. */
export function releaseNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => section.split(/\s/, 1)[0] === version);
  const notes = found?.slice(found.indexOf('\n') + 1).trim() ?? '';
  if (notes === '') {
    throw new Error(`docs/changelog.md has no section for ${version}: write one before you tag the release.`);
  }
  return `${notes}\n`;
}
