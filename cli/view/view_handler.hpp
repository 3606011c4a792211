#pragma once
#include <cli/view/view_documents.hpp>
#include <functional>
#include <web/server/message.hpp>

namespace holotone::cli {

/// Answers the page's requests from the open documents.
class ViewHandler final : public web::Handler {
 public:
  /// `broadcast` sends a message to all pages.
  ViewHandler(const ViewJob& job, std::function<void(web::Message)> broadcast);

  web::Message opened() override;
  web::Message answer(const nlohmann::json& show, const std::atomic<bool>& unwanted) override;
  void idle() override;

 private:
  web::Message answered(const nlohmann::json& show, const std::atomic<bool>& unwanted);
  void notice(const std::string& text) const;

  ConsoleOptions console_;
  std::function<void(web::Message)> broadcast_;
  ViewDocuments documents_;
};

}  // namespace holotone::cli
