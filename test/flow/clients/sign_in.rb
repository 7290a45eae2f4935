# Debian's ruby-oauth2. Prints the record of a sign-in, and the error of a wrong secret.
require 'json'
require 'net/http'
require 'oauth2'

def sign_in(secret)
  scheme = ENV.fetch('WAY') == 'basic' ? :basic_auth : :request_body
  client = OAuth2::Client.new(ENV.fetch('CLIENT_ID'), secret, site: ENV.fetch('APP'), auth_scheme: scheme)
  redirect_uri = ENV.fetch('REDIRECT_URI')
  url = client.auth_code.authorize_url(redirect_uri: redirect_uri, state: 'a state')
  callback = Net::HTTP.get_response(URI(url), { 'cookie' => ENV.fetch('COOKIE') })['location']
  code = URI.decode_www_form(URI(callback).query).assoc('code').last
  client.auth_code.get_token(code, redirect_uri: redirect_uri).get('/oauth/user').parsed
end

record = sign_in(ENV.fetch('CLIENT_SECRET'))
begin
  sign_in("#{ENV.fetch('CLIENT_SECRET')}x")
rescue OAuth2::Error => error
  puts JSON.generate(record: record, error: error.code)
end
