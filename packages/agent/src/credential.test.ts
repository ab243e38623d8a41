import { describe, expect, it } from 'vitest';
import { asksForCredential, withoutCredentials } from './credential.ts';

it.each([
  ['password', 'hunter2 hunter2'],
  ['newPassword', 'hunter2'],
  ['api_key', 'abc'],
  ['access-token', 'abc'],
  ['cardNumber', '4242424242424242'],
  ['pin', 1234],
  ['credentials', { user: 'ada', word: 'hunter2' }],
])('hides the value of an argument named %s [INT-012]', (name, value) => {
  expect(withoutCredentials(name, value)).toBe('•••');
});

it.each([
  ['sk-ant-api03-abcdefghijklmnop', '•••'],
  ['Use vk_live_0123456789abcdef now', 'Use ••• now'],
  ['Authorization: Bearer abcdefghijklmnop', 'Authorization: •••'],
  ['-----BEGIN RSA PRIVATE KEY-----\nabc', '•••'],
])('hides a key inside a text: %s [INT-012]', (given, shown) => {
  expect(withoutCredentials('note', given)).toBe(shown);
});

it('searches lists and objects [INT-012]', () => {
  const given = { login: { user: 'ada', password: 'hunter2' }, notes: ['xoxb-1234567890abcdef', 'plain'] };
  expect(withoutCredentials('form', given)).toEqual({
    login: { user: 'ada', password: '•••' },
    notes: ['•••', 'plain'],
  });
});

it.each([
  ['keyboard', 'Dvorak'],
  ['tokenise', 'yes please'],
  ['reset_password', true],
  ['token', null],
  ['iban', 'DE89370400440532013000'],
  ['amount', 12.5],
])('leaves %s unchanged', (name, value) => {
  expect(withoutCredentials(name, value)).toBe(value);
});

it('searches only as far as values are shown, so that long texts cost no extra time', () => {
  expect(withoutCredentials('note', 'eyJ-'.repeat(60_000))).toHaveLength(2000);
});

describe('asksForCredential', () => {
  it.each([
    ['ar', 'من فضلك أدخل كلمة المرور الخاصة بك', 'في أي يوم نتوقع حضوركم؟'],
    ['ar', 'رقم البطاقة', 'رقم الطلب'],
    ['ar', 'رمز الأمان', 'رمز المنتج'],
    ['de', 'Wie lautet Ihr Passwort?', 'An welchem Tag kommen Sie?'],
    ['de', 'Kreditkartennummer', 'Kundennummer'],
    ['de', 'Prüfziffer der Karte', 'Geprüft am'],
    ['de', 'API-Schlüssel', 'Schlüsselübergabe'],
    ['en', 'The one-time code of your bank', 'When shall we expect you?'],
    ['es', 'Escriba su contraseña, por favor.', '¿Qué día le esperamos?'],
    ['es', 'Número de la tarjeta', 'Número de personas'],
    ['es', 'Código de verificación', 'Código postal'],
    ['fr', 'Votre mot de passe ?', 'Quel jour vous attendons-nous ?'],
    ['fr', 'Clé d’accès', 'Clé de la chambre'],
    ['fr', 'Numéro de carte', 'Numéro de table'],
    ['hi', 'अपना पासवर्ड लिखें', 'आप किस दिन आएंगे?'],
    ['hi', 'कार्ड नंबर', 'टेबल नंबर'],
    ['ja', 'パスワードを入力してください', 'いつお越しになりますか？'],
    ['ja', 'ﾊﾟｽﾜｰﾄﾞ', '予約番号'],
    ['ja', 'クレジットカード番号', '部屋の番号'],
    ['pt', 'Qual é a sua senha?', 'Em que dia vem?'],
    ['pt', 'Número do cartão', 'Número de pessoas'],
  ])('in %s: detects a credential in “%s” and none in “%s” [MCPS-440]', (_language, secret, plain) => {
    expect([asksForCredential(secret), asksForCredential(plain)]).toEqual([true, false]);
  });
});
